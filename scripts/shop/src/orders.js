export function placeOrder(cart, total) {
  return { items: cart.items, total };
}
