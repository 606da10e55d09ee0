/** Of 127.0.0.1 in the box of an app: the service, and the egress gateway. Above the ports that the kernel chooses from. */
export const innerPorts = { api: 61_080, proxy: 61_081 } as const;
