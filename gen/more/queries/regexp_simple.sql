-- a regular expression that is a text to find
select count(*) from docs where body ~ '.*labore et dolore.*'
