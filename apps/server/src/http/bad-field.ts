import { badInput, type ServiceError } from "@shoal/router";

/** Returns the 400 for a field of the body. @param field - path in the body: `viewport.width`. */
export function badField(field: string, problem: string, options: Parameters<typeof badInput>[2] = {}): ServiceError {
  return badInput(`body.${field}`, problem, options);
}
