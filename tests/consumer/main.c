/* consumer_c: the header is C, and a model that is not there is an error with its path. */
#include <stdio.h>
#include <string.h>

#include "tenon/tenon.h"

int main(void) {
  tenon_session_options options = TENON_SESSION_OPTIONS_INIT;
  tenon_session* session = NULL;
  tenon_status* status = tenon_session_create("/no/such/model", &options, &session);
  int ok = status != NULL && session == NULL && tenon_status_code(status) == TENON_NOT_FOUND &&
           strstr(tenon_status_message(status), "/no/such/model") != NULL;
  printf("Tenon %s: %s\n", tenon_version(), tenon_status_message(status));
  tenon_status_free(status);
  return ok ? 0 : 1;
}
