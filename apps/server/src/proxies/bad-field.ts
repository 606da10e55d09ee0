import { ServiceError } from "@shoal/router";

/** An error of a field, as the contract's own checks make it. */
export function badField(field: string, problem: string): ServiceError {
  const message = `body.${field}: ${problem}`;
  return new ServiceError(400, "bad_request", message, { details: [{ code: "invalid_input", message }] });
}
