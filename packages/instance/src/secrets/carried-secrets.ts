import { checked, lazyObject } from "@shoal/schemas";
import * as z from "zod/mini";

const Values = z.lazy(() => checked(z.array(z.string()), z.maxLength(200)));

/** Typed secrets, on their way to the instance of a fork. */
export interface CarriedSecrets extends z.output<typeof CarriedSecrets> {}
export const CarriedSecrets = lazyObject(() => ({
  /** A page may show a value that the caller does not know. */
  hides_pages: z.boolean(),
  /** The latest are last. */
  everywhere: Values,
  telemetry: Values,
  observed: Values,
}));
