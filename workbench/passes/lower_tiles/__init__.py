"""Operations on tiles as loops over slots."""
