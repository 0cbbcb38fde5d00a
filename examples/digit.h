/* A handwritten six, 8 x 8 pixels from 0 (white) to 1 (black): an input for the examples'
 * classifier. */
#ifndef TENON_EXAMPLES_DIGIT_H_
#define TENON_EXAMPLES_DIGIT_H_

#define INK(x) (x) / 16.0f
static const float kSix[64] = {
    INK(0), INK(0), INK(0),  INK(12), INK(14), INK(1),  INK(0),  INK(0),  //
    INK(0), INK(0), INK(5),  INK(16), INK(12), INK(0),  INK(0),  INK(0),  //
    INK(0), INK(0), INK(10), INK(15), INK(1),  INK(0),  INK(0),  INK(0),  //
    INK(0), INK(0), INK(14), INK(15), INK(9),  INK(2),  INK(0),  INK(0),  //
    INK(0), INK(1), INK(16), INK(15), INK(16), INK(15), INK(2),  INK(0),  //
    INK(0), INK(0), INK(15), INK(7),  INK(1),  INK(12), INK(10), INK(0),  //
    INK(0), INK(0), INK(10), INK(14), INK(4),  INK(15), INK(12), INK(0),  //
    INK(0), INK(0), INK(0),  INK(11), INK(16), INK(15), INK(5),  INK(0)};
#undef INK

#endif /* TENON_EXAMPLES_DIGIT_H_ */
