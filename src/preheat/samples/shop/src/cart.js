export function addItem(cart, item) {
  return { ...cart, items: [...cart.items, item] };
}

export function removeItem(cart, id) {
  const at = cart.items.findIndex((item) => item.id === id);
  return at < 0 ? cart : { ...cart, items: cart.items.toSpliced(at, 1) };
}
