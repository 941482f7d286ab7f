-- regular expressions at either end
select count(*) from docs where code ~ '^k1.*' and body ~ '.*FINAL$'
