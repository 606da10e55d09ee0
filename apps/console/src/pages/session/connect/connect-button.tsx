import { Button, Modal } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Cable } from "lucide-react";
import { Suspense } from "react";
import { lazyPart } from "../../../parts/lazy-part.ts";
import { Loading } from "../../../parts/states.tsx";

// The code for every client is large.
const ConnectPrograms = lazyPart(() => import("./connect-programs.tsx"), "ConnectPrograms");

/** How other programs connect to the running session. */
export function ConnectButton({ sessionId }: { readonly sessionId: string }) {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button size="xs" variant="default" leftSection={<Cable size={14} aria-hidden />} onClick={open}>
        Connect
      </Button>
      <Modal opened={isOpen} onClose={close} title="Connect a program" size="xl">
        <Suspense fallback={<Loading />}>
          <ConnectPrograms sessionId={sessionId} />
        </Suspense>
      </Modal>
    </>
  );
}
