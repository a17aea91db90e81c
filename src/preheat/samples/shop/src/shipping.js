export function shippingCost(cents) {
  return cents >= 5000 ? 0 : 490;
}
