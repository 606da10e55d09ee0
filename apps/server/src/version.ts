import { readFileSync } from "node:fs";
import * as z from "zod/mini";

/** Version of this package; `src/` and `dist/` lie equally deep below its package.json. */
export const version: string = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))).version;
