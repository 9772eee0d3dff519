/* Elementary functions that give the same bits on every machine, unlike those of the C library: for
   set-up, scenes and whatever the step needs outside lanes. Results differ from the exact ones by
   less than 1 unit in the last place (acos: 2.5 units). Special values (infinite, not a number,
   zero with its sign) are those of the C standard. */
#ifndef PL_MATH_ELEMENTARY_H
#define PL_MATH_ELEMENTARY_H

double pl_sin(double x);
double pl_cos(double x);
double pl_exp(double x);
double pl_log(double x);
double pl_pow(double x, double y);
double pl_atan2(double y, double x);
double pl_acos(double x);

#endif
