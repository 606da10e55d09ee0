import { badInput, type ServiceError } from "@shoal/router";

/** The 400 for a field of the body, `viewport.width`. */
export function badField(field: string, problem: string): ServiceError {
  return badInput(`body.${field}: ${problem}`);
}
