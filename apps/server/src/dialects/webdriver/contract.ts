import { defineEndpoint, json } from "@shoal/contract";
import { lazyObject } from "@shoal/schemas";
import * as z from "zod/mini";

const NewSession = lazyObject(() => ({
  /** Read by hand: clients have further ones. */
  capabilities: z.optional(z.unknown()),
  desiredCapabilities: z.optional(z.unknown()),
}));

const NewSessionAnswer = lazyObject(() => ({
  value: z.object({ sessionId: z.string(), capabilities: z.record(z.string(), z.unknown()) }),
}));

export const newSession = defineEndpoint({
  operationId: "webdriver.session.create",
  area: "WebDriver",
  plane: "control",
  method: "POST",
  path: "/session",
  summary: "Create a session.",
  idempotency: { repeats: "It creates another session." },
  body: json(NewSession, { limitBytes: 12 * 2 ** 20 }),
  responses: { 200: json(NewSessionAnswer) },
  errors: [400, 401, 403, 404, 429, 500, 503],
});
