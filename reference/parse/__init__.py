"""SQL text becomes a query: read by sqlglot, given its meaning here.

    views        a text of one SELECT, or of views that read each other; `tables` CREATE TABLE
    statement    any query: WITH (`recursive`), set operations, and SELECT, which is in `select`
    source       FROM; `joins` is the order in which its joins are made
    group        GROUP BY; `aggregates` are its calls
    window       OVER
    subquery     subqueries of every kind become joins; `decorrelate` makes them ready for it
    scalars      expressions; `functions`, `casts` and `dates` are the parts of them
    scope        which column a name stands for, and the SELECT that is being read
    types        the casts that SQL makes without being asked
    tidy         what reading leaves behind is put in order
    understood   no clause and no flag is passed over in silence
    text         the text, and the place in it that an error points to

The way in is `deltaproof.reference.sql`: `parse`, `parse_views`.
"""
