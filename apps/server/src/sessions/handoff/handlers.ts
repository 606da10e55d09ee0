import type { createLiveViewLink, OperationsOf } from "@shoal/contract";
import type { Handler, Handlers } from "@shoal/router";
import type { CreatedLiveViewLink, Handoff, LiveViewLink } from "@shoal/schemas";
import type { Access } from "../../http/auth/access.ts";
import type { LiveViewAddresses } from "../live-view/live-view-address.ts";
import type { ShownHandoff } from "../live-view/live-view-page.ts";
import { type HandoffRow, isActive } from "./handoff-store.ts";
import type { Handoffs } from "./handoffs.ts";
import type { LiveViewLinkRow, LiveViewLinks } from "./live-view-links.ts";

type Addresses = Pick<LiveViewAddresses, "ofLink">;

export function handoffHandlers(
  handoffs: Handoffs,
  addresses: Addresses,
): Handlers<OperationsOf<"browsers.handoff">, Access> {
  const shown = (row: HandoffRow, access: Access): Handoff => toHandoff(row, access, addresses);
  return {
    requestHandoff: async ({ body, context, params }) =>
      shown(await handoffs.request(context.projectId, params.id, { body, keyId: context.key.id }), context),
    getHandoff: async ({ context, params, query, signal }) =>
      shown(
        await handoffs.get(context.projectId, params.id, {
          handoffId: query.handoff_id,
          signal,
          waitSeconds: query.wait_seconds,
        }),
        context,
      ),
    releaseHandoff: async ({ body, context, params }) => {
      const end = { status: "released", released_by: "program", note: body.note ?? null } as const;
      return shown(await handoffs.end(context.projectId, params.id, end), context);
    },
    cancelHandoff: async ({ context, params }) => {
      const end = { status: "canceled", released_by: null, note: null } as const;
      return shown(await handoffs.end(context.projectId, params.id, end), context);
    },
  };
}

export function liveViewLinkHandlers(
  links: LiveViewLinks,
  addresses: Addresses,
): Handlers<OperationsOf<"browsers.liveViewLinks">, Access> {
  return {
    createLiveViewLink: async ({ body, context, params }) => {
      const row = await links.create(context.projectId, params.id, { body, keyId: context.key.id });
      return withUrl(row, context, addresses);
    },
    listLiveViewLinks: async ({ context, params, query }) => {
      const page = await links.list(context.projectId, params.id, query);
      return { ...page, items: page.items.map(toLink) };
    },
    deleteLiveViewLink: ({ context, params }) => links.delete(context.projectId, params.id, params.link_id),
  };
}

/** `createLiveViewLink`, whose addresses for repeated requests share a link. */
export function sharedLinkHandler(
  links: LiveViewLinks,
  addresses: Addresses,
): Handler<typeof createLiveViewLink, Access> {
  return async ({ body, context, params }) => {
    const row = await links.share(context.projectId, params.id, { body, keyId: context.key.id });
    return withUrl(row, context, addresses);
  };
}

function withUrl(row: LiveViewLinkRow, access: Access, addresses: Addresses): CreatedLiveViewLink {
  return { ...toLink(row), url: addresses.ofLink({ kind: "link", id: row.id }, row, baseUrlFor(access)) };
}

const baseUrlFor = ({ baseUrl, viewerUrl }: Access): string => viewerUrl ?? baseUrl;

function toHandoff(row: HandoffRow, access: Access, addresses: Addresses): Handoff {
  const { key_id: _keyId, project_id: _projectId, ...shown } = row;
  return {
    ...shown,
    ...(isActive(row) && { url: addresses.ofLink({ kind: "handoff", id: row.id }, row, baseUrlFor(access)) }),
    taken_by: row.taken_at === null ? null : (row.label ?? "person"),
  };
}

function toLink({ key_id: _keyId, project_id: _projectId, ...shown }: LiveViewLinkRow): LiveViewLink {
  return shown;
}

/** The fields for the page of the person. */
export function shownHandoff(row: HandoffRow | undefined): ShownHandoff | undefined {
  return row && { status: row.status, message: row.message, expires_at: row.expires_at };
}
