import type * as endpoints from "@shoal/contract";
import { type Handlers, ServiceError } from "@shoal/router";
import type { OpenCaller } from "../../http/auth/access.ts";
import type { SignInLinks } from "./sign-in-links.ts";

type HandoffEndpoints = Pick<typeof endpoints, "exchangeHandoff">;

export function signInLinkHandlers(links: Pick<SignInLinks, "exchange">): Handlers<HandoffEndpoints, OpenCaller> {
  return {
    async exchangeHandoff({ body, context, params }) {
      try {
        const { access, exchanged } = await links.exchange(params.id, body.code, Date.now());
        context.record(access);
        return exchanged;
      } catch (error) {
        if (ServiceError.isInstance(error) && error.status === 404) context.countRefused();
        throw error;
      }
    },
  };
}
