import * as z from "zod/mini";
import { checked, lazyObject } from "../base/schema.ts";

const Host = () =>
  checked(
    z.string(),
    z.maxLength(253),
    z.regex(/^(?:\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/, "a host in lower case, or *.example.com"),
  );

/** Whether requests of a session are signed with the project's key, by Web Bot Auth. */
export interface WebBotAuth extends z.output<typeof WebBotAuth> {}
export const WebBotAuth = lazyObject(() => ({
  /** Whether to sign. */
  enabled: z.boolean(),
  /** Sign requests to these hosts only, at most 50: names, or `*.example.com` for all names below one. All hosts when absent. */
  sign_only: z.optional(checked(z.array(Host()), z.minLength(1), z.maxLength(50))),
  /** Origin that serves the directory of keys, sent as `Signature-Agent`: `https://bots.example.com`. The service's public address when absent. */
  signature_agent: z.optional(
    checked(
      z.string(),
      z.maxLength(255),
      z.regex(/^https:\/\/[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]{1,5})?$/, "an https: origin, without a path"),
    ),
  ),
}));
