-- classes of characters
select count(*) from events where url ~ '.*item-[0-9]+5[?].*'
