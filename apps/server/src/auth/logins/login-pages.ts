import { answerMs, type LoginAddresses } from "@shoal/contract/logins";
import type { Access } from "../../http/auth/access.ts";
import type { LiveViewAddresses } from "../../sessions/live-view/live-view-address.ts";
import type { FlowRow } from "../connections/connection-row.ts";
import type { LoginPages } from "../connections/handlers.ts";
import { stateOf } from "../flows/flow-store.ts";
import type { LinkCodes } from "../sign-in-links/link-codes.ts";

interface LoginPageParts {
  readonly codes: Pick<LinkCodes, "codeOf" | "hostedUrlOf">;
  readonly liveViews: Pick<LiveViewAddresses, "of" | "ofLogin">;
}

/** The sign-in page and the live view of a running login. */
export function loginPages({ codes, liveViews }: LoginPageParts): LoginPages {
  return {
    of(flow, access) {
      if (access.handoff !== undefined) return viewForPage(liveViews, flow, access);
      const { baseUrl, key } = access;
      const view =
        flow.session_id === null
          ? undefined
          : liveViews.of({ id: flow.session_id, ended_at: null }, { baseUrl, keyId: key.id }).browser_live_view_url;
      return {
        hosted_url: codes.hostedUrlOf(flow, access),
        ...(view !== undefined && { live_view_url: view }),
      };
    },
    handedOut: (flow, access) => ({
      hosted_url: codes.hostedUrlOf(flow, access),
      handoff_code: codes.codeOf(flow, access),
    }),
  };
}

/** A person on the sign-in page gets the browser only where nothing else helps, and only while the login waits. */
function viewForPage(
  liveViews: Pick<LiveViewAddresses, "ofLogin">,
  flow: FlowRow,
  { baseUrl, key }: Access,
): LoginAddresses {
  const { askedAtMs, question, step } = stateOf(flow);
  if (flow.session_id === null || step !== "AWAITING_EXTERNAL_ACTION" || question?.external?.type !== "captcha")
    return {};
  const untilMs = (askedAtMs ?? Date.now()) + answerMs;
  return { live_view_url: liveViews.ofLogin(flow.session_id, untilMs, { baseUrl, keyId: key.id }) };
}
