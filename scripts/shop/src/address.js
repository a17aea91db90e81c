const LINES = ["name", "street", "city"];

export function checkAddress(address) {
  if (LINES.some((line) => !address[line])) throw new Error("The address is not complete");
  return address;
}
