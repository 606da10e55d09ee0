import { ServiceError } from "@shoal/router";
import { expect, it } from "vitest";
import { requireWaiting } from "../../sessions/live-view/live-view-address.ts";
import { refusedLinkPage } from "./html-page.ts";

const textOf = (error: ServiceError) => {
  const [, title, text] = /<h1>(.*)<\/h1><p>(.*)<\/p>/.exec(refusedLinkPage(error).html) ?? [];
  return [title, text];
};

it("tells a person to ask for a new link only if that helps", async () => {
  const expired = new ServiceError(401, "unauthorized", "It has expired.", { hint: "Get one with browsers.get." });
  expect(textOf(expired)).toEqual([
    "This link is invalid or has expired",
    "It has expired. Copy the whole link, or ask for a new one.",
  ]);
  const over = await requireWaiting(
    { isWaiting: () => Promise.resolve(false) },
    { isForLogin: true, sessionId: "k3f9" },
  ).catch((error: unknown) => error as ServiceError);
  expect(textOf(over as ServiceError)).toEqual([
    "This link is not needed any more",
    "The sign-in does not need this browser any more. Continue on the sign-in page.",
  ]);
});

it("tells a person why they may not open a page, and when to try again", () => {
  const secret = new ServiceError(403, "forbidden", "<b> can be read in it.", { hint: "Use auth.connections." });
  expect(textOf(secret)).toEqual(["You may not open this", "&#60;b&#62; can be read in it."]);
  const policy = new ServiceError(403, "insufficient_scope", "It does not permit browsers.liveView.control.");
  expect(textOf(policy)).toEqual(["You may not open this", "The API key of this link has no right to it."]);
  const busy = new ServiceError(503, "database_unavailable", "The server at 10.0.0.1 does not answer.");
  expect(textOf(busy)).toEqual(["This page cannot be opened now", "Try again in a moment."]);
});
