const LINES = ["name", "street", "city"];

export function checkAddress(address) {
  const missing = LINES.find((line) => !address[line]);
  if (missing) throw new Error(`The address has no ${missing}`);
  return address;
}
