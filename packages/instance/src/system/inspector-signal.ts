/** Otherwise another process of the user could open a Node process's inspector with SIGUSR1 and run code. */
export const disableInspectorSignal = "--disable-sigusr1";
