-- Ten questions for the package index:
--   joedb sql --mode table packages.joedb < questions.sql

-- 1. Which packages do most others depend on?
SELECT p.name, count(DISTINCT v.package) AS needed_by
FROM dependency d JOIN version v ON v.rowid = d.version JOIN package p ON p.rowid = d.package
WHERE d.kind = 0 GROUP BY d.package ORDER BY needed_by DESC, p.name LIMIT 5;

-- 2. Which sections are the largest, in MiB installed?
SELECT section, sum(installed_size) / 1024 AS mib, count(*) AS packages
FROM version__joined GROUP BY section ORDER BY mib DESC LIMIT 5;

-- 3. Who maintains the most packages?
SELECT m.name, count(*) AS packages
FROM version v JOIN maintainer m ON m.rowid = v.maintainer
GROUP BY v.maintainer ORDER BY packages DESC LIMIT 5;

-- 4. What is essential?
SELECT package, installed_size FROM version__joined WHERE essential ORDER BY package LIMIT 5;

-- 5. What is called a database?
SELECT package, description FROM version__joined
WHERE description LIKE '%database%' AND package LIKE '%db%' ORDER BY package LIMIT 5;

-- 6. How large is the largest package of each of the largest sections?
SELECT section, package, installed_size / 1024 AS mib FROM (
  SELECT section, package, installed_size,
         row_number() OVER (PARTITION BY section ORDER BY installed_size DESC) AS place
  FROM version__joined)
WHERE place = 1 ORDER BY mib DESC LIMIT 5;

-- 7. Of which packages are there several versions?
SELECT p.name, count(*) AS versions FROM version v JOIN package p ON p.rowid = v.package
GROUP BY v.package HAVING versions > 1 ORDER BY versions DESC, p.name LIMIT 5;

-- 8. What do others depend on, although nobody makes it?
SELECT p.name, count(*) AS wanted FROM dependency d JOIN package p ON p.rowid = d.package
WHERE NOT EXISTS (SELECT 1 FROM version v WHERE v.package = d.package)
GROUP BY d.package ORDER BY wanted DESC, p.name LIMIT 5;

-- 9. Where are the home pages?
SELECT substr(rest, 1, instr(rest || '/', '/') - 1) AS host, count(*) AS packages
FROM (SELECT substr(homepage, instr(homepage, '://') + 3) AS rest FROM version WHERE homepage <> '')
GROUP BY host ORDER BY packages DESC LIMIT 5;

-- 10. How are sizes distributed?
SELECT CASE WHEN installed_size < 100 THEN 'less than 100 KiB'
            WHEN installed_size < 1024 THEN 'less than 1 MiB'
            WHEN installed_size < 10240 THEN 'less than 10 MiB'
            ELSE 'more' END AS size,
       count(*) AS packages, sum(installed_size) / 1024 AS mib
FROM version GROUP BY size ORDER BY min(installed_size);
