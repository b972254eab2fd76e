BEGIN TRANSACTION; -- checkpoint = 41
CREATE TABLE "person"("__id" INTEGER PRIMARY KEY);
ALTER TABLE "person" ADD "name" TEXT;
ALTER TABLE "person" ADD "age" SMALLINT;
ALTER TABLE "person" ADD "year" SMALLINT;
ALTER TABLE "person" ADD "salary" INTEGER;
ALTER TABLE "person" ADD "distance" BIGINT;
ALTER TABLE "person" ADD "friend" INTEGER REFERENCES "person";
ALTER TABLE "person" ADD "is_happy" SMALLINT;
ALTER TABLE "person" ADD "height" REAL;
ALTER TABLE "person" ADD "weight" REAL;
ALTER TABLE "person" ADD "face" BLOB;
-- 2023-11-14 22:13:20 GMT
INSERT INTO "person"("__id") VALUES(0);
INSERT INTO "person"("__id") VALUES(1);
INSERT INTO "person"("__id") VALUES(2);
INSERT INTO "person"("__id") VALUES(3);
UPDATE "person" SET "name" = CAST(X'73617920226869220a' AS TEXT) WHERE "__id" = 0;
UPDATE "person" SET "age" = -42 WHERE "__id" = 0;
UPDATE "person" SET "year" = -1999 WHERE "__id" = 0;
UPDATE "person" SET "salary" = -100000 WHERE "__id" = 0;
UPDATE "person" SET "distance" = -9223372036854775808 WHERE "__id" = 0;
UPDATE "person" SET "friend" = 2 WHERE "__id" = 0;
UPDATE "person" SET "friend" = NULL WHERE "__id" = 1;
UPDATE "person" SET "is_happy" = 1 WHERE "__id" = 0;
UPDATE "person" SET "height" = 1.7 WHERE "__id" = 0;
UPDATE "person" SET "weight" = 0.3333333333333333 WHERE "__id" = 0;
UPDATE "person" SET "face" = X'610aff' WHERE "__id" = 0;
UPDATE "person" SET "face" = NULL WHERE "__id" = 1;
UPDATE "person" SET "name" = '' WHERE "__id" = 0;
UPDATE "person" SET "name" = 'b' WHERE "__id" = 1;
UPDATE "person" SET "name" = 'é' WHERE "__id" = 2;
UPDATE "person" SET "age" = 1 WHERE "__id" = 0;
UPDATE "person" SET "age" = -2 WHERE "__id" = 1;
UPDATE "person" SET "age" = 3 WHERE "__id" = 2;
UPDATE "person" SET "friend" = NULL WHERE "__id" = 1;
UPDATE "person" SET "friend" = 0 WHERE "__id" = 2;
UPDATE "person" SET "is_happy" = 0 WHERE "__id" = 1;
UPDATE "person" SET "is_happy" = 1 WHERE "__id" = 2;
UPDATE "person" SET "weight" = NULL WHERE "__id" = 0;
UPDATE "person" SET "weight" = -9e999 WHERE "__id" = 1;
UPDATE "person" SET "weight" = -0 WHERE "__id" = 2;
UPDATE "person" SET "face" = X'610a' WHERE "__id" = 1;
UPDATE "person" SET "face" = NULL WHERE "__id" = 2;
DELETE FROM "person" WHERE "__id" = 3;
DELETE FROM "person" WHERE "__id" = 2;
DELETE FROM "person" WHERE "__id" = 1;
-- two
-- lines
-- valid data
-- custom: upgrade
ALTER TABLE "person" RENAME TO "human";
ALTER TABLE "human" RENAME COLUMN "age" TO "years";
ALTER TABLE "human" DROP COLUMN "year";
CREATE TABLE "city"("__id" INTEGER PRIMARY KEY);
DROP TABLE "city";
COMMIT; --checkpoint = 370

