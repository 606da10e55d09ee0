import type { renderPage } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../../http/auth/access.ts";
import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import { WaitingLine } from "../waiting/waiting-line.ts";
import { answerOf } from "./rendered-answer.ts";
import { Renders, type RendersParts } from "./renders.ts";

const origin = { dialect: "render" };

/** Pages that are rendered without a session of the caller. */
export function renderFeature({ log }: Host, { sessions }: Pick<RendersParts, "sessions">) {
  const renders = new Renders({ sessions, line: new WaitingLine(), log });
  return {
    provides: renders,
    handlers: {
      renderPage: async (call) => answerOf(await renders.render(call, origin), call.headers),
    } satisfies Handlers<{ renderPage: typeof renderPage }, Access>,
  } satisfies Feature;
}
