import type { Shoal } from "@shoal/client";
import { ServiceError, type Handlers } from "@shoal/router";
import { createHash, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import type * as endpoints from "./endpoints.ts";
import type { Delivery } from "./schemas.ts";

/** The caller of a request. */
export interface Caller {
  /** A client with the caller's own key, so that Shoal checks access to sessions. */
  readonly shoal: Shoal;
  /** The owner of the deliveries: the key's project, or the whole organisation. */
  readonly owner: string;
}

interface StoredDelivery {
  readonly owner: string;
  readonly delivery: Delivery;
  readonly content: Buffer;
}

const maxBytes = 64 * 1024 ** 2;

/** A handler for each operation; a missing one is a compile error. Deliveries are in memory, for simplicity. */
export function deliveryHandlers(): Handlers<typeof endpoints, Caller> {
  const stored: StoredDelivery[] = [];

  function existing({ owner }: Caller, id: string): StoredDelivery {
    const found = stored.find((entry) => entry.owner === owner && entry.delivery.id === id);
    if (found === undefined)
      throw new ServiceError(404, "not_found", `Delivery ${id} was not found.`, {
        hint: "List them with deliveries.list.",
      });
    return found;
  }

  return {
    async createDelivery({ body, context, signal }) {
      const { browser_id, note, path } = body;
      const download = await context.shoal.browsers.fs.readFile(browser_id, { path }, { signal });
      const chunks: Uint8Array[] = [];
      const hash = createHash("sha256");
      let sizeBytes = 0;
      for await (const chunk of download.stream) {
        sizeBytes += chunk.length;
        if (sizeBytes > maxBytes)
          throw new ServiceError(
            413,
            "payload_too_large",
            `${path} is larger than ${maxBytes} bytes, the limit of a delivery.`,
          );
        hash.update(chunk);
        chunks.push(chunk);
      }
      const delivery: Delivery = {
        id: randomUUID(),
        browser_id,
        path,
        size_bytes: sizeBytes,
        sha256: hash.digest("hex"),
        ...(note !== undefined && { note }),
        created_at: new Date().toISOString(),
      };
      stored.unshift({ owner: context.owner, delivery, content: Buffer.concat(chunks) });
      return delivery;
    },
    listDeliveries({ query, context }) {
      const { browser_id, limit, offset } = query;
      const found = stored.filter(
        ({ delivery, owner }) =>
          owner === context.owner && (browser_id === undefined || delivery.browser_id === browser_id),
      );
      const hasMore = found.length > offset + limit;
      return {
        items: found.slice(offset, offset + limit).map(({ delivery }) => delivery),
        hasMore,
        nextOffset: hasMore ? offset + limit : undefined,
      };
    },
    getDelivery: ({ params, context }) => existing(context, params.id).delivery,
    readDelivery({ params, context }) {
      const { content, delivery } = existing(context, params.id);
      return {
        stream: Readable.from([content]),
        sizeBytes: content.length,
        fileName: delivery.path.slice(delivery.path.lastIndexOf("/") + 1),
      };
    },
  };
}
