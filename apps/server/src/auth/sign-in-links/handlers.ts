import type * as endpoints from "@shoal/contract";
import { type Handlers, ServiceError } from "@shoal/router";
import type { OpenCaller } from "../../http/auth/access.ts";
import type { Handoffs } from "./handoffs.ts";

type HandoffEndpoints = Pick<typeof endpoints, "exchangeHandoff">;

export function handoffHandlers(handoffs: Pick<Handoffs, "exchange">): Handlers<HandoffEndpoints, OpenCaller> {
  return {
    async exchangeHandoff({ body, context, params }) {
      try {
        const { access, exchanged } = await handoffs.exchange(params.id, body.code, Date.now());
        context.record(access);
        return exchanged;
      } catch (error) {
        if (ServiceError.isInstance(error) && error.status === 404) context.countRefused();
        throw error;
      }
    },
  };
}
