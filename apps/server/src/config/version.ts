import { readFileSync } from "node:fs";
import * as z from "zod/mini";
import { packageFile } from "./package-file.ts";

/** Of the package `@shoal/server`. */
export const version: string = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(packageFile("package.json"), "utf8"))).version;
