import { Button, Modal, SegmentedControl, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Cable } from "lucide-react";
import { useState } from "react";
import { serviceUrl } from "../../../base/place.ts";
import { CodeBlock } from "../../../parts/code.tsx";
import { connectProgramsOf } from "./connect-programs.ts";

/** How other programs connect to the running session. */
export function ConnectButton({ sessionId }: { readonly sessionId: string }) {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button size="xs" variant="default" leftSection={<Cable size={14} aria-hidden />} onClick={open}>
        Connect
      </Button>
      <Modal opened={isOpen} onClose={close} title="Connect a program" size="xl">
        <Programs sessionId={sessionId} />
      </Modal>
    </>
  );
}

function Programs({ sessionId }: { readonly sessionId: string }) {
  const programs = connectProgramsOf(sessionId, serviceUrl);
  const [label, setLabel] = useState("CDP");
  const code = programs.find((program) => program.label === label)?.code ?? "";
  return (
    <Stack gap="sm">
      <SegmentedControl
        data={programs.map((program) => program.label)}
        value={label}
        onChange={setLabel}
        aria-label="Client"
        fullWidth
        data-autofocus
      />
      <CodeBlock code={code} label={`Connect: ${label}`} />
      <Text size="sm" c="dimmed">
        The client needs an API key in SHOAL_API_KEY. Without sessionId, the address creates a session.
      </Text>
    </Stack>
  );
}
