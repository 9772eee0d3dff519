/* pliant picture. */
#ifndef PL_APP_PICTURE_H
#define PL_APP_PICTURE_H

#include "options.h"

extern const app_command app_picture_command;

#endif
