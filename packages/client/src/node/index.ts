export { fileFromPath } from "@shoal/transport/node";
