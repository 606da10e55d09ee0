/** Option of Node for every process of a session: without it, any process of the same user opens its inspector with SIGUSR1 and runs code in it. */
export const disableInspectorSignal = "--disable-sigusr1";
