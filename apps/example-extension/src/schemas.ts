import { AbsolutePath, checked, Id, lazyObject, pageFields, type Schema, Timestamp } from "@shoal/schemas";
import * as z from "zod/mini";

export const DeliveryShape = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** The browser session that the file came from. */
  browser_id: z.string(),
  /** Where it lay there. */
  path: z.string(),
  /** Bytes. */
  size_bytes: z.int(),
  /** SHA-256 of the content, 64 hexadecimal digits. */
  sha256: z.string(),
  /** The deliverer's own words. */
  note: z.optional(z.string()),
  /** When it was taken. */
  created_at: Timestamp,
}));
/** A file that was taken out of a browser session, and outlives it. */
export interface Delivery extends z.output<typeof DeliveryShape> {}
export const Delivery: Schema<Delivery> = DeliveryShape;

export const CreateDeliveryShape = lazyObject(() => ({
  /** The browser session's id, or the name of a running one. */
  browser_id: Id,
  /** Absolute path of the file in the session. */
  path: AbsolutePath,
  /** Whatever is to be said about it, at most 1000 characters. */
  note: z.optional(checked(z.string(), z.maxLength(1000))),
}));
/** What `deliveries.create` takes. */
export interface CreateDelivery extends z.input<typeof CreateDeliveryShape> {}
export const CreateDelivery: Schema<z.output<typeof CreateDeliveryShape>, CreateDelivery> = CreateDeliveryShape;

export const ListDeliveriesShape = lazyObject(() => ({
  ...pageFields,
  /** Only those of one browser session. */
  browser_id: z.optional(Id),
}));
/** What `deliveries.list` takes. */
export interface ListDeliveries extends z.input<typeof ListDeliveriesShape> {}
export const ListDeliveries: Schema<z.output<typeof ListDeliveriesShape>, ListDeliveries> = ListDeliveriesShape;
