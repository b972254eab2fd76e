BEGIN TRANSACTION; -- checkpoint = 41
CREATE TABLE "f"("__id" INTEGER PRIMARY KEY);
ALTER TABLE "f" ADD "x" REAL;
ALTER TABLE "f" ADD "y" REAL;
INSERT INTO "f"("__id") VALUES(0);
UPDATE "f" SET "x" = 3.4028235e+38 WHERE "__id" = 0;
UPDATE "f" SET "y" = 1.7976931348623157e+308 WHERE "__id" = 0;
UPDATE "f" SET "x" = -3.4028235e+38 WHERE "__id" = 0;
UPDATE "f" SET "y" = -1.7976931348623157e+308 WHERE "__id" = 0;
UPDATE "f" SET "x" = NULL WHERE "__id" = 0;
UPDATE "f" SET "y" = 9e999 WHERE "__id" = 0;
UPDATE "f" SET "x" = 1.5 WHERE "__id" = 0;
UPDATE "f" SET "y" = 0.5 WHERE "__id" = 0;
COMMIT; --checkpoint = 121

