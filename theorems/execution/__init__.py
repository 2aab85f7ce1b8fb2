"""The reference's own code, run on symbolic weights.

    symbolic     weights that stand for every integer, without a branch
    forking      every path of code that branches
    forms        what such code may ask of a weight, in one way for equal questions
    wraparound   weights modulo 2^64
    locality     what a row of the output depends on
    circuit, planner, shapes, laws, blocks    what is run, beside the operators
    supports     how large a table half a second allows
    faults, planted    faults planted at random, which must be found

Chapter `code`; `deltaproof prove --supports`; `make planted`.
"""
