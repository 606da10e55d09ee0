import { Group, Modal, Stack, Text } from "@mantine/core";
import type { Credential } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { useSignedIn } from "../../api/shoal.ts";
import { CopyIcon } from "../../parts/code.tsx";
import { useNow } from "../../parts/now.ts";
import { Failure, Loading } from "../../parts/states.tsx";

interface CodeDialogProps {
  /** `undefined` = closed. */
  readonly credential: Credential | undefined;
  readonly close: () => void;
}

/** Shows the current one-time code, and the next one when it expires. */
export function CodeDialog({ credential, close }: CodeDialogProps) {
  return (
    <Modal opened={credential !== undefined} onClose={close} title={`One-time code of ${credential?.name ?? ""}`}>
      {credential !== undefined && <CurrentCode id={credential.id} />}
    </Modal>
  );
}

function CurrentCode({ id }: { readonly id: string }) {
  const { shoal } = useSignedIn();
  const now = useNow();
  const { data: code, error } = useQuery({
    queryKey: ["totp-code", id],
    queryFn: async ({ signal }) => shoal.credentials.totpCode(id, { signal }),
    gcTime: 0,
    staleTime: 0,
    refetchOnWindowFocus: false,
    refetchInterval: ({ state }) =>
      state.data === undefined ? false : Math.max(500, Date.parse(state.data.expires_at) - Date.now() + 200),
  });
  if (error !== null) return <Failure error={error} />;
  if (code === undefined) return <Loading label="Reading the code" />;
  const seconds = Math.max(0, Math.ceil((Date.parse(code.expires_at) - now) / 1000));
  return (
    <Stack align="center" gap="xs">
      <Group gap="xs">
        <Text ff="monospace" fz={32} fw={700} data-testid="code">
          {code.code}
        </Text>
        <CopyIcon value={code.code} label="Copy the code" />
      </Group>
      <Text size="sm" c="dimmed">
        Valid for {seconds} s. Each code is in the audit log.
      </Text>
    </Stack>
  );
}
