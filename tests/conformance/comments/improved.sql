BEGIN TRANSACTION; -- checkpoint = 41
-- plain
-- 
-- 
-- quote " back \ slash
-- ünï ☃
-- multi
-- line
-- bare
-- first
-- cccccccccccccccccccccccccccccccc
COMMIT; --checkpoint = 145

