BEGIN TRANSACTION; -- checkpoint = 41
CREATE TABLE "f"("__id" INTEGER PRIMARY KEY);
ALTER TABLE "f" ADD "x" REAL;
ALTER TABLE "f" ADD "y" REAL;
INSERT INTO "f"("__id") VALUES(0);
UPDATE "f" SET "x" = 0 WHERE "__id" = 0;
UPDATE "f" SET "y" = 0 WHERE "__id" = 0;
INSERT INTO "f"("__id") VALUES(1);
UPDATE "f" SET "x" = -0 WHERE "__id" = 1;
UPDATE "f" SET "y" = -0 WHERE "__id" = 1;
INSERT INTO "f"("__id") VALUES(2);
UPDATE "f" SET "x" = 0.1 WHERE "__id" = 2;
UPDATE "f" SET "y" = 0.1 WHERE "__id" = 2;
INSERT INTO "f"("__id") VALUES(3);
UPDATE "f" SET "x" = 1e+38 WHERE "__id" = 3;
UPDATE "f" SET "y" = 1e+308 WHERE "__id" = 3;
INSERT INTO "f"("__id") VALUES(4);
UPDATE "f" SET "x" = -1.5 WHERE "__id" = 4;
UPDATE "f" SET "y" = -2.25 WHERE "__id" = 4;
INSERT INTO "f"("__id") VALUES(5);
UPDATE "f" SET "x" = 1e-38 WHERE "__id" = 5;
UPDATE "f" SET "y" = 2.2250738585072014e-308 WHERE "__id" = 5;
INSERT INTO "f"("__id") VALUES(6);
UPDATE "f" SET "x" = 1.6777216e+07 WHERE "__id" = 6;
UPDATE "f" SET "y" = 9.007199254740992e+15 WHERE "__id" = 6;
INSERT INTO "f"("__id") VALUES(7);
UPDATE "f" SET "x" = 3.1415927 WHERE "__id" = 7;
UPDATE "f" SET "y" = 3.14159265358979 WHERE "__id" = 7;
INSERT INTO "f"("__id") VALUES(8);
UPDATE "f" SET "x" = 1.234567e+06 WHERE "__id" = 8;
UPDATE "f" SET "y" = 1.23456789e+08 WHERE "__id" = 8;
INSERT INTO "f"("__id") VALUES(9);
UPDATE "f" SET "x" = 1e-06 WHERE "__id" = 9;
UPDATE "f" SET "y" = 1e-05 WHERE "__id" = 9;
COMMIT; --checkpoint = 226

