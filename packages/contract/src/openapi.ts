import type { Contract } from "./endpoint.ts";

/** placeholder replaced below */
export function toOpenApi(contract: Contract): object {
  return { contract };
}
