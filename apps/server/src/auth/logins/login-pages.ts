import type { LiveViewAddresses } from "../../sessions/live-view/live-view-address.ts";
import type { HandoffCodes } from "../handoff/handoff-codes.ts";
import type { LoginPages } from "../connections/handlers.ts";

/** The sign-in page and the live view of a running login. */
export function loginPages({
  codes,
  liveViews,
}: {
  readonly codes: Pick<HandoffCodes, "codeOf" | "hostedUrlOf">;
  readonly liveViews: Pick<LiveViewAddresses, "of">;
}): LoginPages {
  return {
    of(flow, access) {
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
