import { Modal, Stack, Table, Text } from "@mantine/core";
import type { CredentialProvider } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { useSignedIn } from "../../api/shoal.ts";
import { Failure, Loading } from "../../parts/states.tsx";

interface ItemsDialogProps {
  /** `undefined` = closed. */
  readonly provider: CredentialProvider | undefined;
  readonly close: () => void;
}

/** Titles and paths; the password manager keeps the secrets. */
export function ItemsDialog({ provider, close }: ItemsDialogProps) {
  return (
    <Modal opened={provider !== undefined} onClose={close} title={`Items of ${provider?.name ?? ""}`} size="lg">
      {provider !== undefined && <Items id={provider.id} />}
    </Modal>
  );
}

function Items({ id }: { readonly id: string }) {
  const { shoal } = useSignedIn();
  const { data, error, refetch } = useQuery({
    queryKey: ["provider-items", id],
    queryFn: async ({ signal }) => shoal.credentialProviders.listItems(id, { signal }),
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading label="Reading the items" />;
  const { items = [] } = data;
  if (items.length === 0) return <Text size="sm">The token can read no items.</Text>;
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        {items.length} items. Use a path in the credential of a connection.
      </Text>
      <Table layout="fixed" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Path</Table.Th>
            <Table.Th>Sites</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map(({ id: itemId, path, urls }) => (
            <Table.Tr key={itemId}>
              <Table.Td style={{ overflowWrap: "anywhere" }}>{path}</Table.Td>
              <Table.Td style={{ overflowWrap: "anywhere" }}>{urls?.join(", ")}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  );
}
