import type { Invocation } from "@shoal/schemas";

export const isRunning = ({ status }: Invocation): boolean => status === "queued" || status === "running";
