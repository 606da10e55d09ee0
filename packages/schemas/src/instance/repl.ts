import * as z from "zod/mini";
import { rule } from "../base/rules.ts";
import { checked, lazyObject } from "../base/schema.ts";

/** Input of `browsers.repl`. */
export interface RunRepl extends z.input<typeof RunRepl> {}
export const RunRepl = z.lazy(() =>
  checked(
    z.object({
      /** JavaScript, at most 8,000,000 characters, and 8 MiB with the rest of the body. `await` and `import()` work at the top level. Declarations stay for later calls, and may be repeated. Values of expressions are not shown: use `repl.write(text)` or `console.log`. May be empty only with `reset`. */
      code: checked(z.string(), z.maxLength(8_000_000)),
      /** Ends the process with all its state, starts another one, and runs the code in it. */
      reset: z._default(z.boolean(), false),
      /** Seconds until the process is ended, 1 to 300. Its state is lost then. */
      timeout_sec: z._default(checked(z.int(), z.minimum(1), z.maximum(300)), 60),
    }),
    rule(
      ({ code, reset }) => code !== "" || reset,
      { path: ["code"], error: "may be empty only with reset" },
      {
        keywords: {
          if: { properties: { code: { const: "" } } },
          then: { properties: { reset: { const: true } }, required: ["reset"] },
        },
      },
    ),
  ),
);

/** A piece of output. */
export interface ReplContent extends z.output<typeof ReplContent> {}
export const ReplContent = lazyObject(() => ({
  /** `text` or `image`. */
  type: z.string(),
  /** Of a text: `write` for `repl.write`, `stdout` or `stderr`. */
  channel: z.optional(z.string()),
  /** The text. */
  text: z.optional(z.string()),
  /** Of an image: `image/png`, for example. */
  mime_type: z.optional(z.string()),
  /** The image. */
  data_b64: z.optional(z.string()),
}));

/** How the code ended. */
export interface ReplResult extends z.output<typeof ReplResult> {}
export const ReplResult = lazyObject(() => ({
  /** Id of the process. Another one means that the state of earlier calls is gone. */
  repl_id: z.string(),
  /** Whether the code ran to its end. */
  success: z.boolean(),
  /** Output in its order, also of timers since the previous call. At most 10,000 parts, 1,000,000 characters of text, and 8 MiB of images. */
  content: z.array(ReplContent),
  /** Whether output beyond the limits was dropped. */
  content_truncated: z.boolean(),
  /** Milliseconds that the code ran. */
  duration_ms: z.int(),
  /** Why it failed. */
  error: z.optional(z.string()),
  /** Where it failed: `cell-3.js:2:7` is line 2, column 7 of the third call of this process. */
  stack: z.optional(z.string()),
  /** Whether the process has ended: because of a timeout, a crash, an error outside of the call, or the end of the process by the code. The next call starts another one. */
  repl_terminated: z.boolean(),
}));
