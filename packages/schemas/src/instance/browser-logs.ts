import * as z from "zod/mini";
import { AbsolutePath } from "./file-system.ts";
import { checked } from "../base/schema.ts";

/** Input of `browsers.logs.stream`. */
export interface StreamBrowserLogs extends z.input<typeof StreamBrowserLogs> {}
export const StreamBrowserLogs = z.lazy(() =>
  checked(
    z.object({
      /** `path` reads the file that `path` names, `supervisor` the output of the process that `supervisor_process` names. */
      source: z.enum(["path", "supervisor"]),
      /** Continue with new lines; `false` ends after the lines that exist now. */
      follow: z._default(z.boolean(), true),
      /** Absolute path of a file in the session; needed with `source=path`. */
      path: z.optional(AbsolutePath),
      /** What the session runs: `chromium`, or `instance`, the program that controls it. Required with `source=supervisor`. */
      supervisor_process: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
    }),
    z.refine(
      ({ source, path, supervisor_process }) => (source === "path" ? path : supervisor_process) !== undefined,
      "source=path needs path, source=supervisor needs supervisor_process",
    ),
  ),
);
