BEGIN TRANSACTION; -- checkpoint = 41
CREATE TABLE "f"("__id" INTEGER PRIMARY KEY);
ALTER TABLE "f" ADD "x" REAL;
ALTER TABLE "f" ADD "y" REAL;
INSERT INTO "f"("__id") VALUES(0);
UPDATE "f" SET "x" = NULL WHERE "__id" = 0;
UPDATE "f" SET "y" = NULL WHERE "__id" = 0;
INSERT INTO "f"("__id") VALUES(1);
UPDATE "f" SET "x" = 9e999 WHERE "__id" = 1;
UPDATE "f" SET "y" = 9e999 WHERE "__id" = 1;
INSERT INTO "f"("__id") VALUES(2);
UPDATE "f" SET "x" = -9e999 WHERE "__id" = 2;
UPDATE "f" SET "y" = -9e999 WHERE "__id" = 2;
INSERT INTO "f"("__id") VALUES(3);
UPDATE "f" SET "x" = -0 WHERE "__id" = 3;
UPDATE "f" SET "y" = -0 WHERE "__id" = 3;
INSERT INTO "f"("__id") VALUES(4);
UPDATE "f" SET "x" = 1.5 WHERE "__id" = 4;
UPDATE "f" SET "y" = 1.5 WHERE "__id" = 4;
COMMIT; --checkpoint = 149

