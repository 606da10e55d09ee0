import { readFileSync } from "node:fs";
import * as z from "zod/mini";

/** `src/` and `dist/` have the same depth below package.json. */
export const version: string = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))).version;
