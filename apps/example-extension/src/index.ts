export { Deliveries } from "./deliveries.ts";
export { createDelivery, getDelivery, listDeliveries, readDelivery } from "./endpoints.ts";
export { CreateDelivery, Delivery, ListDeliveries } from "./schemas.ts";
