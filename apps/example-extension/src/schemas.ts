import { AbsolutePath, checked, Id, lazyObject, pageFields, type Schema, Timestamp } from "@shoal/schemas";
import * as z from "zod/mini";

export const DeliveryShape = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** The browser session of the file. */
  browser_id: z.string(),
  /** The file's path in the session. */
  path: z.string(),
  /** Size in bytes. */
  size_bytes: z.int(),
  /** SHA-256 of the content, 64 hexadecimal digits. */
  sha256: z.string(),
  /** The note of the request. */
  note: z.optional(z.string()),
  /** Time of the copy. */
  created_at: Timestamp,
}));
/** A file copied out of a browser session, which it outlives. */
export interface Delivery extends z.output<typeof DeliveryShape> {}
export const Delivery: Schema<Delivery> = DeliveryShape;

export const CreateDeliveryShape = lazyObject(() => ({
  /** The browser session's id, or the name of a running one. */
  browser_id: Id,
  /** Absolute path of the file in the session. */
  path: AbsolutePath,
  /** A note, at most 1000 characters. */
  note: z.optional(checked(z.string(), z.maxLength(1000))),
}));
/** Body of `deliveries.create`. */
export interface CreateDelivery extends z.input<typeof CreateDeliveryShape> {}
export const CreateDelivery: Schema<z.output<typeof CreateDeliveryShape>, CreateDelivery> = CreateDeliveryShape;

export const ListDeliveriesShape = lazyObject(() => ({
  ...pageFields,
  /** Only deliveries from this browser session. */
  browser_id: z.optional(Id),
}));
/** Query of `deliveries.list`. */
export interface ListDeliveries extends z.input<typeof ListDeliveriesShape> {}
export const ListDeliveries: Schema<z.output<typeof ListDeliveriesShape>, ListDeliveries> = ListDeliveriesShape;
