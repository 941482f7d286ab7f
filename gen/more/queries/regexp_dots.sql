-- a text, anything, another text
select count(*) from docs where body ~ '.*Lorem.*labore.*FINAL.*'
