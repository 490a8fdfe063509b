"""For tests of weft and of its plugins: the reference device, the counting device, fakes, goldens
and the conformance kit. Importing this package imports none of them."""
