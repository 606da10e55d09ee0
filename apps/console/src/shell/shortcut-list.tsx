import { Kbd, Modal, Table } from "@mantine/core";

const listed = [
  ["1", "Home"],
  ["2", "Sessions"],
  ["/", "Search on this page"],
  ["Ctrl K", "Go to a page or a session"],
  ["?", "Show these shortcuts"],
] as const;

export function ShortcutList({ close }: { readonly close: () => void }) {
  return (
    <Modal opened onClose={close} title="Keyboard shortcuts" size="sm">
      <Table>
        <Table.Tbody>
          {listed.map(([key, effect]) => (
            <Table.Tr key={key}>
              <Table.Td w={80}>
                <Kbd>{key}</Kbd>
              </Table.Td>
              <Table.Td>{effect}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}
